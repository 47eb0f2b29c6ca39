import type { BodyInput, WorkspaceRole } from "@sluice/contract";
import { t } from "../../language/areas/settings.ts";

const dayMs = 86_400_000;

/** How long a token may live. */
export const lives = [
  { id: "7", label: "in 7 days", days: 7 },
  { id: "30", label: "in 30 days", days: 30 },
  { id: "90", label: "in 90 days", days: 90 },
  { id: "365", label: "in a year", days: 365 },
  { id: "never", label: "never", days: null },
] as const;

export interface TokenDraft {
  readonly name: string;
  readonly administrator: boolean;
  readonly workspace: string | null;
  readonly role: WorkspaceRole | null;
  readonly life: (typeof lives)[number]["id"];
}

export const emptyDraft: TokenDraft = { name: "", administrator: false, workspace: null, role: null, life: "90" };

export function bodyOf(draft: TokenDraft, now: number): BodyInput<"tokens.create"> {
  const days = lives.find(({ id }) => id === draft.life)?.days ?? null;
  const grant = draft.administrator
    ? { administrator: true }
    : {
        ...(draft.workspace === null ? {} : { workspace: draft.workspace }),
        ...(draft.role === null ? {} : { role: draft.role }),
      };
  return { name: draft.name.trim(), ...grant, ...(days === null ? {} : { expires_at: now + days * dayMs }) };
}

/** Why it cannot be sent as it stands; null: it can. */
export function blockedBy(draft: TokenDraft): string | null {
  if (draft.name.trim() === "") return t("settings.itNeedsAName");
  if (draft.administrator) return null;
  if (draft.workspace === null) return t("settings.chooseWhereItCounts");
  return draft.role === null ? "Choose a role." : null;
}
