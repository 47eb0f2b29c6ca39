/**
 * Header fields as whoever reads them needs them. The runtime's `Headers` are such, and so are the fields of our own HTTP/1.1, which cost
 * nothing to make. Names are asked for in lower case.
 */
export interface HeaderReader {
  /** The values of all fields of that name, with commas between them; null: there is none. */
  get(name: string): string | null;
  has(name: string): boolean;
  /** The same as the iterator gives, without a pair for each. */
  forEach(take: (value: string, name: string) => void): void;
  /** Names in lower case, each once. */
  [Symbol.iterator](): Iterator<[string, string]>;
}
