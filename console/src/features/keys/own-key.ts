import type { ConsoleKey } from "@sluice/contract";
import { useSession } from "../../session/session-context.tsx";

/** Why the one who looks may not change a key; null: they may. An admin changes any, a member their own. */
export function useKeyLock(key: ConsoleKey | undefined): string | null {
  const { user, may } = useSession();
  if (key === undefined) return null;
  if (key.managed_by === "file") return "The config file owns this key. Change it there.";
  const { slug } = key.workspace;
  if (may("admin", slug)) return null;
  if (!may("member", slug)) return "Viewers change nothing. Ask an admin of the workspace.";
  return key.created_by?.id === user.id
    ? null
    : "Somebody else made this key. An admin of the workspace may change it.";
}
