import { z } from "zod";
import { Failure } from "#core/index.ts";

export const emailSchema = z
  .email("Not an e-mail address.")
  .max(254)
  .transform((email) => email.toLowerCase());
export const nameSchema = z.string().trim().min(1, "A name has at least one character.").max(128);

/** Who somebody is, as it is stored. Throws Failure invalid_request. */
export function readPerson(given: { readonly email: string; readonly name: string }): {
  readonly email: string;
  readonly name: string;
} {
  return { email: read(emailSchema, given.email.trim(), "email"), name: read(nameSchema, given.name, "name") };
}

function read<Output>(schema: z.ZodType<Output>, value: string, param: string): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Failure("invalid_request", `\`${param}\`: ${result.error.issues[0]?.message ?? "not usable"}`, { param });
}
