import type { Need } from "@sluice/contract";
import {
  IconActivity,
  IconBox,
  IconBuilding,
  IconGauge,
  IconHistory,
  IconHome,
  IconKey,
  IconLibraryPhoto,
  IconMessages,
  IconMovie,
  IconPlugConnected,
  IconSettings,
  type TablerIcon,
} from "@tabler/icons-react";
import { t } from "../language/areas/shell.ts";

interface PageEntry {
  readonly to:
    | "/"
    | "/playground"
    | "/keys"
    | "/requests"
    | "/tasks"
    | "/assets"
    | "/limits"
    | "/models"
    | "/providers"
    | "/workspaces"
    | "/audit"
    | "/settings";
  readonly label: string;
  readonly icon: TablerIcon;
  /** What one has to hold in the chosen workspace to see it. */
  readonly needs: Need;
  /** `g` and then this letter goes there. */
  readonly letter: string;
}

export interface PageGroup {
  readonly label: string | null;
  readonly pages: readonly PageEntry[];
}

/** The navigation: what every day needs first, what is set up once last. */
export const pageGroups: readonly PageGroup[] = [
  {
    label: null,
    pages: [
      { to: "/", label: t("shell.overview"), icon: IconHome, needs: "signed-in", letter: "h" },
      { to: "/playground", label: t("shell.playground"), icon: IconMessages, needs: "member", letter: "p" },
    ],
  },
  {
    label: t("shell.use"),
    pages: [
      { to: "/keys", label: t("shell.apiKeys"), icon: IconKey, needs: "viewer", letter: "k" },
      { to: "/requests", label: t("shell.requests"), icon: IconActivity, needs: "viewer", letter: "r" },
      { to: "/tasks", label: t("shell.videoTasks"), icon: IconMovie, needs: "viewer", letter: "v" },
      { to: "/assets", label: t("shell.assets"), icon: IconLibraryPhoto, needs: "viewer", letter: "a" },
      { to: "/limits", label: t("shell.limits"), icon: IconGauge, needs: "viewer", letter: "l" },
    ],
  },
  {
    label: t("shell.serve"),
    pages: [
      { to: "/models", label: t("shell.models"), icon: IconBox, needs: "viewer", letter: "m" },
      { to: "/providers", label: t("shell.providers"), icon: IconPlugConnected, needs: "administrator", letter: "o" },
    ],
  },
  {
    label: t("shell.manage"),
    pages: [
      { to: "/workspaces", label: t("shell.workspaces"), icon: IconBuilding, needs: "viewer", letter: "w" },
      { to: "/audit", label: t("shell.auditLog"), icon: IconHistory, needs: "admin", letter: "u" },
      // Whoever is no administrator has their admin tokens there.
      { to: "/settings", label: t("shell.settings"), icon: IconSettings, needs: "viewer", letter: "s" },
    ],
  },
];

/** What somebody may see, group by group; a group with nothing in it is left out. */
export function visibleGroups(may: (need: Need) => boolean): readonly PageGroup[] {
  return pageGroups
    .map((group) => ({ ...group, pages: group.pages.filter((page) => may(page.needs)) }))
    .filter((group) => group.pages.length > 0);
}

/** The tabs of the settings page, by what stands behind `?tab=`. Whoever is no administrator has only the tokens. */
export const settingsTabs = [
  { id: "general", label: t("shell.general") },
  { id: "sign-in", label: "Sign-in" },
  { id: "users", label: t("shell.users") },
  { id: "tokens", label: t("shell.adminTokens") },
  { id: "config", label: t("shell.configFile") },
  { id: "backup", label: t("shell.backup") },
  { id: "system", label: t("shell.system") },
] as const;
