import type { OidcConfig, TokenConfig, UserConfig } from "./config-people.ts";
import { ruleFault } from "./rule-fault.ts";

interface PeopleConflict {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly refers?: readonly (string | number)[];
}

/** Conflicts that the schema of a single user or token cannot detect. */
export function userConflicts(users: readonly UserConfig[]): PeopleConflict[] {
  return users.flatMap(({ workspaces = [] }, index) => {
    const seen = new Set<string>();
    return workspaces.flatMap(({ workspace }, at): PeopleConflict[] => {
      if (!seen.has(workspace)) {
        seen.add(workspace);
        return [];
      }
      const path = ["users", index, "workspaces", at, "workspace"];
      return [{ path, message: `the workspace "${workspace}" is already listed for this user` }];
    });
  });
}

export function tokenConflicts(tokens: readonly TokenConfig[]): PeopleConflict[] {
  return tokens.flatMap((token, index) => {
    const path = ["tokens", index];
    const found: PeopleConflict[] = [];
    const isWhole = token.administrator === true || token.scim === true;
    if (token.administrator === true && token.scim === true) {
      found.push({ path, message: "set `scim` or `administrator`, not both" });
    }
    if (isWhole && (token.workspace !== undefined || token.role !== undefined)) {
      found.push({
        path,
        message: "leave out `workspace` and `role` for a token with `scim` or `administrator`: it has every workspace",
      });
    }
    if (!isWhole && (token.workspace === undefined || token.role === undefined)) {
      found.push({ path, refers: path, message: "set `administrator`, `scim`, or `workspace` and `role`" });
    }
    if ((token.secret === undefined) === (token.secret_sha256 === undefined)) {
      found.push({ path, refers: path, message: "set either `secret` or `secret_sha256`" });
    }
    return found;
  });
}

export function ruleConflicts(accounts: readonly OidcConfig[]): PeopleConflict[] {
  return accounts.flatMap(({ rules = [] }, index) =>
    rules.flatMap((rule, at): PeopleConflict[] => {
      const message = ruleFault(rule);
      return message === null ? [] : [{ path: ["oidc", index, "rules", at], message }];
    }),
  );
}
