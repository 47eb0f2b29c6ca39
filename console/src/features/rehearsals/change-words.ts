import type { RehearsedChange } from "@sluice/contract";
import { t } from "../../language/areas/rehearsals.ts";

/** The objects in a change: `acme/ci and 2 others`. */
export function changeWords(change: RehearsedChange): string {
  const { workspaces = [], users = [], models = [], guardrails = [], budgets = [] } = change;
  const [first = "", ...others] = [
    ...workspaces.flatMap(
      ({ slug, groups = [], keys = [], guardrails: checks = [], budgets: policies = [], ...own }) => [
        ...(Object.keys(own).length === 0 ? [] : [slug]),
        ...[...groups, ...keys, ...checks, ...policies].map(({ name }) => `${slug}/${name}`),
      ],
    ),
    ...users.map(({ email }) => email),
    ...[...models, ...guardrails, ...budgets].map(({ name }) => name),
  ];
  return others.length === 0 ? first : t("rehearsals.change.more", { first, count: others.length });
}
