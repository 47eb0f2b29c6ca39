const lead = 2;

/**
 * Shortens names for small places and keeps them unique; the full names are shown elsewhere. A prefix that a long name shares with
 * another one (up to the last separator) is left out. Names that are still too long are cut in the middle, or around the place where
 * they differ if that would make two equal. `room`: characters.
 */
export function shortNames(names: readonly string[], room = 20): readonly string[] {
  const long = names.filter((name) => name.length > room).sort();
  const shared = new Map(long.map((name, place) => [name, sharedBeginning(name, [long[place - 1], long[place + 1]])]));
  const short = names.map((name) => cut(name, shared.get(name) ?? 0, room));
  const alike = new Map<string, string[]>();
  for (const [place, text] of short.entries()) alike.set(text, [...(alike.get(text) ?? []), names[place] ?? ""]);
  return short.map((text, place) => {
    const others = alike.get(text) ?? [];
    return others.length < 2 ? text : around(names[place] ?? "", others, room);
  });
}

function cut(name: string, shared: number, room: number): string {
  if (name.length <= room) return name;
  const rest = shared === 0 ? name : `…${name.slice(shared)}`;
  if (rest.length <= room) return rest;
  const half = (room - 1) / 2;
  return `${rest.slice(0, Math.ceil(half))}…${rest.slice(-Math.floor(half))}`;
}

/** The part of a name in which it differs from each of the others. */
function around(name: string, others: readonly string[], room: number): string {
  const same = Math.max(0, ...others.filter((other) => other !== name).map((other) => sameChars(name, other)));
  const from = Math.max(0, same - room / 2);
  const to = from + room - lead;
  return `${from > 0 ? "…" : ""}${name.slice(from, to)}${to < name.length ? "…" : ""}`;
}

/** The length of the prefix, up to a word boundary, that a name shares with its nearest neighbor in sorted order. */
function sharedBeginning(name: string, neighbours: readonly (string | undefined)[]): number {
  const same = Math.max(0, ...neighbours.map((other) => (other === undefined ? 0 : sameChars(name, other))));
  return /^.*[-/._:]/.exec(name.slice(0, same))?.[0].length ?? 0;
}

function sameChars(one: string, other: string): number {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return same;
}
