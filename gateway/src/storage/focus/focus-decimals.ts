/** `units / 10^scale` as an exact decimal, always with a decimal point. */
export function decimal(units: bigint, scale: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0");
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, "");
  return `${sign}${digits.slice(0, digits.length - scale)}.${scale === 0 || fraction === "" ? "0" : fraction}`;
}

/** Splits an amount in proportion to weights. The parts add up to the amount; the largest weight takes what rounding leaves. */
export function splitByWeights(amount: bigint, weights: readonly bigint[]): readonly bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  if (total === 0n) return weights.map(() => 0n);
  const parts = weights.map((weight) => (amount * weight) / total);
  const rest = amount - parts.reduce((sum, part) => sum + part, 0n);
  const largest = weights.reduce((best, weight, place) => (size(weight) > size(weights[best] ?? 0n) ? place : best), 0);
  return parts.map((part, place) => (place === largest ? part + rest : part));
}

function size(weight: bigint): bigint {
  return weight < 0n ? -weight : weight;
}
