/** Names in one URL parameter, separated by commas: `a,b`. A comma in a name is written `%2C`. */
export function writeNames(names: readonly string[]): string {
  return names.map((name) => name.replaceAll("%", "%25").replaceAll(",", "%2C")).join();
}

/** Each name once, at most `most`. */
export function readNames(text: string, most: number): readonly string[] {
  const names = text.split(",").filter((name) => name !== "");
  return [...new Set(names.map((name) => name.replaceAll("%2C", ",").replaceAll("%25", "%")))].slice(0, most);
}
