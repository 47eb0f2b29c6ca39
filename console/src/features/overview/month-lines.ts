/** The sum until the end of each day, up to `now`; null after it. */
export function sumsSoFar(
  at: readonly number[],
  values: readonly (number | null)[],
  now: number,
): readonly (number | null)[] {
  let sum = 0;
  return at.map((day, place) => {
    sum += values[place] ?? 0;
    return day < now ? sum : null;
  });
}

/** A straight line from the last sum to the forecast on the last day. */
export function forecastLine(sums: readonly (number | null)[], forecast: number): readonly (number | null)[] {
  const today = sums.findLastIndex((sum) => sum !== null);
  const spent = sums[today] ?? 0;
  const left = sums.length - 1 - today;
  return sums.map((_, place) => {
    if (place < today || (left === 0 && place > today)) return null;
    return left === 0 ? forecast : spent + ((forecast - spent) * (place - today)) / left;
  });
}
