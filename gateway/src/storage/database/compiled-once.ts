import type { Compilable, CompiledQuery } from "kysely";

/** Compiles a frequent statement once, with placeholders for its values. */
export function compiledOnce<Row, Name extends string>(
  write: (place: (name: Name) => never) => Compilable<Row>,
): (values: Readonly<Record<Name, unknown>>) => CompiledQuery<Row> {
  let written: CompiledQuery<Row> | null = null;
  return (values) => {
    written ??= write((name) => new Placeholder(name) as never).compile();
    const parameters = written.parameters.map((each) =>
      each instanceof Placeholder ? values[each.name as Name] : each,
    );
    return { ...written, parameters };
  };
}

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}
