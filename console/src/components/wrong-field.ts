import { isMember, type Problem } from "../client/problem.ts";
import { t } from "../language/areas/problems.ts";
import { problems } from "../language/en/problems.ts";

/**
 * The error text of a field, for the `error` of a Mantine input. null: there is no problem, or it is not about this field.
 *
 * `field` is the field's name in the request body, as in the gateway's `param`. `limits` includes `limits.rpm`, and `models` includes
 * `models.0`, so an input can represent an object or a list.
 *
 * Texts are looked up by field and code (`problems.fields.email.conflict`), or else by code alone
 * (`problems.field.missing_required_parameter`). Add a more specific text to `problems.fields` if your field needs one. Render
 * `FormProblem` once in the same form (`FormDrawer` does): it shows problems without a field, and the gateway's message.
 *
 *     <TextInput label={t("components.labels.name")} error={wrongField(create.error, "name")} … />
 */
export function wrongField(problem: Problem | null, field: string): string | null {
  const param = problem?.param ?? null;
  if (problem === null || param === null) return null;
  if (param !== field && !param.startsWith(`${field}.`)) return null;
  const { code } = problem;
  return wordsOf(param, code) ?? wordsOf(field, code) ?? wordsOf(lastOf(field), code) ?? wordsByCode(problem);
}

const lastOf = (field: string): string => field.slice(field.lastIndexOf(".") + 1);

function wordsOf(field: string, code: string): string | null {
  if (!isMember(problems.fields, field)) return null;
  const codes: object = problems.fields[field];
  // The text exists: it was just checked.
  return isMember(codes, code) ? t(`problems.fields.${field}.${code}` as "problems.fields.name.conflict") : null;
}

function wordsByCode({ code, message }: Problem): string {
  return isMember(problems.field, code) ? t(`problems.field.${code}`) : message;
}
