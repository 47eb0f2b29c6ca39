/**
 * The lines that go and the lines that come, each with its number; what stays is left out, since it may hold secrets. A line that only got
 * the comma of JSON behind it stays.
 */
export function changedLines(before: string, after: string): readonly string[] {
  const [oldShown, freshShown] = [linesOf(before), linesOf(after)];
  const [old, fresh] = [oldShown, freshShown].map((lines) => lines.map((line) => line.replace(/,$/, ""))) as [
    string[],
    string[],
  ];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let [oldEnd, freshEnd] = [old.length, fresh.length];
  while (oldEnd > start && freshEnd > start && old[oldEnd - 1] === fresh[freshEnd - 1]) {
    oldEnd--;
    freshEnd--;
  }
  const kept = keptPairs(old.slice(start, oldEnd), fresh.slice(start, freshEnd));
  const said: string[] = [];
  let [one, other] = [start, start];
  for (const [keptOld, keptFresh] of [...kept, [oldEnd - start, freshEnd - start] as const]) {
    for (; one < start + keptOld; one++) said.push(`- ${one + 1}: ${oldShown[one]}`);
    for (; other < start + keptFresh; other++) said.push(`+ ${other + 1}: ${freshShown[other]}`);
    one++;
    other++;
  }
  return said;
}

/** Lines that stand in both, in their order, as many as there can be; none where that would cost too much to find. */
function keptPairs(old: readonly string[], fresh: readonly string[]): readonly (readonly [number, number])[] {
  if (old.length * fresh.length > cellsMax) return [];
  const width = fresh.length + 1;
  const most = new Uint32Array((old.length + 1) * width);
  const at = (one: number, other: number) => most[one * width + other] ?? 0;
  for (let one = old.length - 1; one >= 0; one--) {
    for (let other = fresh.length - 1; other >= 0; other--) {
      most[one * width + other] =
        old[one] === fresh[other] ? at(one + 1, other + 1) + 1 : Math.max(at(one + 1, other), at(one, other + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let one = 0, other = 0; one < old.length && other < fresh.length; ) {
    if (old[one] === fresh[other]) pairs.push([one++, other++]);
    else if (at(one + 1, other) >= at(one, other + 1)) one++;
    else other++;
  }
  return pairs;
}

const cellsMax = 4_000_000;

function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
