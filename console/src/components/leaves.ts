interface Place {
  readonly pathname: string;
  readonly search: object;
}

/** Whether the next URL closes a form: it is another page, or changes a parameter that opened the form. */
export function leaves(current: Place, next: Place, openedBy: readonly string[]): boolean {
  if (current.pathname !== next.pathname) return true;
  return openedBy.some((name) => Reflect.get(current.search, name) !== Reflect.get(next.search, name));
}
