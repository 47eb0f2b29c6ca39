import type { GuardrailCheckConfig } from "./guardrail-fields.ts";
import { type GuardrailAction, maskingChecks } from "./guardrail-table.ts";

interface GuardrailFault {
  /** Relative to the guardrail. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Problems of a guardrail that its schema cannot detect. */
export function guardrailFaults({
  check,
  action,
}: {
  readonly check: GuardrailCheckConfig;
  readonly action: GuardrailAction;
}): readonly GuardrailFault[] {
  const found: GuardrailFault[] = [];
  if (action === "mask" && !(maskingChecks as readonly string[]).includes(check.kind)) {
    found.push({
      path: ["action"],
      message: `the check "${check.kind}" finds no places that could be masked; use block or flag`,
    });
  }
  if (check.kind === "patterns") {
    const names = new Set<string>();
    check.patterns.forEach(({ name }, index) => {
      if (names.has(name)) {
        found.push({
          path: ["check", "patterns", index, "name"],
          message: `there is already a pattern "${name}"`,
        });
      }
      names.add(name);
    });
  }
  if (check.kind === "webhook" && hasCredentials(check.url)) {
    found.push({ path: ["check", "url"], message: "a credential in the URL would be logged; put it in secret" });
  }
  return found;
}

/** The model that a check calls, and its type. null: none. */
export function modelOfCheck(
  check: Pick<GuardrailCheckConfig, "kind"> & { readonly model?: string },
): { readonly name: string; readonly type: "moderation" | "chat" } | null {
  if (check.model === undefined) return null;
  return { name: check.model, type: check.kind === "moderation" ? "moderation" : "chat" };
}

function hasCredentials(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== "" || url.password !== "");
}
