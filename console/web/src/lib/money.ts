// "12,345.67" of 1234567 cents. Exact: amounts never pass through fractions.
export function grouped(cents: number): string {
  const whole = Math.trunc(Math.abs(cents) / 100);
  const rest = String(Math.abs(cents) % 100).padStart(2, "0");
  return `${cents < 0 ? "−" : ""}${whole.toLocaleString("en-US")}.${rest}`;
}

export const dollars = (cents: number) => `$${grouped(cents)}`;
