import { isMember, type Problem } from "../client/problem.ts";
import { t } from "../language/areas/problems.ts";
import { problems } from "../language/en/problems.ts";

/**
 * What is wrong with a field, in the page's own words, to stand beside it as the `error` of a Mantine input. null: the problem
 * is none, or is about something else.
 *
 * `field` is the field's name in the body of the call: the gateway names the wrong one in `param`. `limits` takes in
 * `limits.rpm` and `models` takes in `models.0`, so one input may stand for an object or a list.
 *
 * The words come from the catalogue by field and code (`problems.fields.email.conflict`), else by code alone
 * (`problems.field.missing_required_parameter`). Add to `problems.fields` what tells more about a field of yours. Draw
 * `FormProblem` once in the same form (`FormDrawer` does): it shows what no field shows, and the gateway's own sentence.
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
