/** The other candidate that a mistyped name most resembles; null: none is similar. */
export function closestOf(name: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = allowedDistance(name) + 1;
  for (const candidate of candidates) {
    if (candidate === name) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `; did you mean …?` for the end of a message, or "". */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const closest = closestOf(name, candidates);
  return closest === null ? "" : `; did you mean \`${closest}\`?`;
}

/** Short names must match more closely, because they are all similar to each other. */
function allowedDistance(name: string): number {
  if (name.length < 3) return 0;
  return name.length < 6 ? 1 : 2;
}

/** Optimal string alignment: an insertion, deletion, substitution or swap of adjacent characters counts one. */
function editDistance(a: string, b: string, stopAt: number): number {
  if (Math.abs(a.length - b.length) >= stopAt) return stopAt;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(before, column - 2) + 1);
      current.push(cost);
    }
    before = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
