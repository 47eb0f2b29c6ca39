/**
 * Takes a value out of the address's fragment (`#setup=…`) and wipes it from the address bar and the history. A
 * fragment is never sent to a server, so a secret in it reaches no log and no referrer.
 */
export function takeFragment(name: string): string | null {
  const value = new URLSearchParams(location.hash.slice(1)).get(name);
  if (value === null) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return value === "" ? null : value;
}
