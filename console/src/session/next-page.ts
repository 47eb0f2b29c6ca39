/** The console's path under the gateway's URL. */
export const consoleBase = "/console";

/** The page to go to after signing in, from `?next=`. Only paths of the console are accepted; anything else opens the first page. */
export function nextPage(next: string): string {
  if (!/^\/(?![/\\])[^\\\s]*$/.test(next) || next.startsWith("/sign-in")) return `${consoleBase}/`;
  return consoleBase + next;
}

/** The current page, for `?next=`. */
export function herePage(path: string, search: string): string {
  const inside = path.startsWith(consoleBase) ? path.slice(consoleBase.length) : path;
  return `${inside === "" ? "/" : inside}${search}`;
}
