import { bounds } from "#core/index.ts";

/** Control characters, blanks and backslashes: parsers disagree on them, and CR LF would write into a request. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unsafe = /[\u0000-\u0020\u007f\\]/;

/** What is wrong with an address of a caller, in words that follow "it"; null when anybody may be asked to fetch it. */
export function addressProblem(text: string): string | null {
  if (Buffer.byteLength(text) > bounds.urlBytesMax) return `is longer than ${bounds.urlBytesMax} bytes`;
  if (unsafe.test(text)) return "holds a blank, a backslash or a control character";
  if (!URL.canParse(text)) return "is not an absolute URL";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "is neither http nor https";
  if (url.username !== "" || url.password !== "" || url.host === "") return "carries credentials or names no host";
  return null;
}

/**
 * The same for an address that we fetch ourselves. A caller that may choose the port can talk to a database or a queue that
 * happens to be public; material is served at the ports of the web.
 */
export function fetchProblem(text: string): string | null {
  const problem = addressProblem(text);
  if (problem !== null) return problem;
  // The parser leaves the port out where it is the scheme's own.
  const { port } = new URL(text);
  return port === "" || port === "80" || port === "443" ? null : "names a port other than 80 and 443";
}

/** Where a redirect leads, judged like the first address; a step down from https to http is refused. */
export function nextAddress(from: string, location: string): { readonly url: string } | { readonly problem: string } {
  if (unsafe.test(location) || !URL.canParse(location, from)) return { problem: "moves to what is not an address" };
  const url = new URL(location, from).href;
  const problem = fetchProblem(url);
  if (problem !== null) return { problem: `moves to an address that ${problem}` };
  if (from.startsWith("https:") && url.startsWith("http:")) return { problem: "moves from https to http" };
  return { url };
}
