// "12,345.67" of 1234567 cents. Exact: amounts never pass through fractions.
export function grouped(cents: number): string {
  const whole = Math.trunc(Math.abs(cents) / 100);
  const rest = String(Math.abs(cents) % 100).padStart(2, "0");
  return `${cents < 0 ? "−" : ""}${whole.toLocaleString("en-US")}.${rest}`;
}

// "3000.60" of "5000.60000000" and "2000.00000000": the difference of two amounts of the API in whole cents, rounded down.
export function minus(one: string, other: string): string {
  const units = (text: string) => {
    const [whole = "0", decimals = ""] = text.replace("-", "").split(".");
    const value = BigInt(whole + decimals.padEnd(8, "0"));
    return text.startsWith("-") ? -value : value;
  };
  const cents = (units(one) - units(other)) / 1_000_000n;
  const text = String(cents < 0n ? -cents : cents).padStart(3, "0");
  return `${cents < 0n ? "-" : ""}${text.slice(0, -2)}.${text.slice(-2)}`;
}

export const isZero = (text: string) => /^-?0*(\.0*)?$/.test(text);

export const dollars = (cents: number) => `$${grouped(cents)}`;

// "$14,250.45" of "14250.45000000", as the API writes amounts: without trailing zeros, but with at least two decimals.
export function amount(text: string): string {
  const negative = text.startsWith("-");
  const [whole = "0", decimals = ""] = text.replace("-", "").split(".");
  const shown = decimals.replace(/0+$/, "").padEnd(2, "0");
  return `${negative ? "−" : ""}$${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${shown}`;
}
