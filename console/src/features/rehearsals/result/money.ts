/** Nano-USD as text in USD. Exact to a nano-dollar below nine million dollars. */
export function usdOf(nano: string): number {
  return Number(nano) / 1e9;
}
