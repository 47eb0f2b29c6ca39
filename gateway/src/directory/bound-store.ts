/** The functions of a store without their first parameter. */
export type BoundStore<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (context: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** A store made of functions that all take `context` first: what the store stands on. */
export function bindStore<Context, Functions extends object>(
  context: Context,
  functions: Functions & Readonly<Record<string, (context: Context, ...rest: never[]) => unknown>>,
): BoundStore<Functions> {
  const bound = Object.entries(functions).map(([name, work]) => [name, work.bind(null, context)] as const);
  return Object.fromEntries(bound) as BoundStore<Functions>;
}
