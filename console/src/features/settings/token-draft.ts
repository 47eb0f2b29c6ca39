import type { BodyInput, WorkspaceRole } from "@sluice/contract";
import { t } from "../../language/areas/settings.ts";
import type { Faults } from "../catalog/use-faults.ts";

const dayMs = 86_400_000;

/** The choices for a token's lifetime. */
export const lives = [
  { id: "7", days: 7 },
  { id: "30", days: 30 },
  { id: "90", days: 90 },
  { id: "365", days: 365 },
  { id: "never", days: null },
] as const;

/** Fields of every token. */
export interface NamedDraft {
  readonly name: string;
  readonly life: (typeof lives)[number]["id"];
}

export interface TokenDraft extends NamedDraft {
  readonly administrator: boolean;
  readonly workspace: string | null;
  readonly role: WorkspaceRole | null;
}

export const emptyDraft: TokenDraft = { name: "", administrator: false, workspace: null, role: null, life: "90" };

export function bodyOf(draft: TokenDraft, now: number): BodyInput<"tokens.create"> {
  const grant = draft.administrator
    ? { administrator: true }
    : {
        ...(draft.workspace === null ? {} : { workspace: draft.workspace }),
        ...(draft.role === null ? {} : { role: draft.role }),
      };
  return { name: draft.name.trim(), ...grant, ...endOf(draft.life, now) };
}

export function endOf(life: TokenDraft["life"], now: number): { readonly expires_at?: number } {
  const days = lives.find(({ id }) => id === life)?.days ?? null;
  return days === null ? {} : { expires_at: now + days * dayMs };
}

export function lifeChoices(): { readonly value: string; readonly label: string }[] {
  return lives.map(({ id, days }) => ({
    value: id,
    label: days === null ? t("settings.token.lives.never") : t("settings.token.lives.days", { days }),
  }));
}

/** Validation errors by field. */
export function faultsOf(draft: TokenDraft): Faults {
  const scoped = draft.administrator || draft.workspace !== null;
  return {
    ...nameFaults(draft),
    ...(scoped ? {} : { workspace: t("settings.token.scopeMissing") }),
    ...(draft.workspace !== null && draft.role === null ? { role: t("settings.token.roleMissing") } : {}),
  };
}

export function nameFaults({ name }: NamedDraft): Faults {
  return name.trim() === "" ? { name: t("settings.token.nameMissing") } : {};
}
