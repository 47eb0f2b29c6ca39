/** Who somebody is, as it is stored. Throws Failure invalid_request. The schemas are loaded with the first one: a start needs none. */
export async function readPerson(given: {
  readonly email: string;
  readonly name: string;
}): Promise<{ readonly email: string; readonly name: string }> {
  const late = await import("./person-schemas.ts");
  return late.readPerson(given);
}
