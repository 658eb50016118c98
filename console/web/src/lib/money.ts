// "12,345.67" of 1234567 cents. Exact: amounts never pass through fractions.
export function grouped(cents: number): string {
  const whole = Math.trunc(Math.abs(cents) / 100);
  const rest = String(Math.abs(cents) % 100).padStart(2, "0");
  return `${cents < 0 ? "−" : ""}${whole.toLocaleString("en-US")}.${rest}`;
}

export const dollars = (cents: number) => `$${grouped(cents)}`;

// "$14,250.45" of "14250.45000000", as the API writes amounts: without trailing zeros, but with at least two decimals.
export function amount(text: string): string {
  const negative = text.startsWith("-");
  const [whole = "0", decimals = ""] = text.replace("-", "").split(".");
  const shown = decimals.replace(/0+$/, "").padEnd(2, "0");
  return `${negative ? "−" : ""}$${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${shown}`;
}
