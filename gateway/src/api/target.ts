/** What a request asks for. The runtime has resolved dots and backslashes; `plain-target.ts` refuses whatever had any. */
export interface Target {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
}

/** Of an absolute URL, as the server gives it, or of what follows the host in one. */
export function targetOf(url: string): Target {
  const pathStart = url.startsWith("/") ? 0 : url.indexOf("/", 8);
  const queryStart = url.indexOf("?", pathStart);
  if (queryStart === -1) return { path: url.slice(pathStart), query: "" };
  return { path: url.slice(pathStart, queryStart), query: url.slice(queryStart + 1) };
}
