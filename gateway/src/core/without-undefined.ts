type WithoutUndefined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
} & { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] };

/** The fields that are not undefined. */
export function withoutUndefined<Fields extends object>(fields: Fields): WithoutUndefined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
