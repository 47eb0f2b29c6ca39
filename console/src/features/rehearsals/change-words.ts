import type { RehearsedChange } from "@sluice/contract";
import { t } from "../../language/areas/rehearsals.ts";

/** What a change is about: `acme/ci and 2 others`. */
export function changeWords({ workspaces = [], users = [], models = [], guardrails = [] }: RehearsedChange): string {
  const [first = "", ...others] = [
    ...workspaces.flatMap(({ slug, groups = [], keys = [], guardrails: checks = [], ...own }) => [
      ...(Object.keys(own).length === 0 ? [] : [slug]),
      ...[...groups, ...keys, ...checks].map(({ name }) => `${slug}/${name}`),
    ]),
    ...users.map(({ email }) => email),
    ...[...models, ...guardrails].map(({ name }) => name),
  ];
  return others.length === 0 ? first : t("rehearsals.change.more", { first, count: others.length });
}
