interface Place {
  readonly pathname: string;
  readonly search: object;
}

/** Whether a form is gone in the next place: on another page, or where a part of the address that opened it is another. */
export function leaves(current: Place, next: Place, openedBy: readonly string[]): boolean {
  if (current.pathname !== next.pathname) return true;
  return openedBy.some((name) => Reflect.get(current.search, name) !== Reflect.get(next.search, name));
}
