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
  IconTerminal2,
  type TablerIcon,
} from "@tabler/icons-react";
import { t } from "../language/areas/shell.ts";

interface PageEntry {
  readonly to:
    | "/"
    | "/playground"
    | "/connect"
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
  /** The role in the selected workspace that is required to see the page. */
  readonly needs: Need;
  /** The key after `g` that opens the page. */
  readonly shortcut: string;
}

export interface PageGroup {
  readonly label: string | null;
  readonly pages: readonly PageEntry[];
}

/** The navigation: pages for daily use first, settings last. */
export const pageGroups: readonly PageGroup[] = [
  {
    label: null,
    pages: [
      { to: "/", label: t("shell.pages.overview"), icon: IconHome, needs: "signed-in", shortcut: "h" },
      { to: "/playground", label: t("shell.pages.playground"), icon: IconMessages, needs: "member", shortcut: "p" },
      { to: "/connect", label: t("shell.pages.connect"), icon: IconTerminal2, needs: "member", shortcut: "c" },
    ],
  },
  {
    label: t("shell.groups.usage"),
    pages: [
      { to: "/keys", label: t("shell.pages.keys"), icon: IconKey, needs: "viewer", shortcut: "k" },
      { to: "/requests", label: t("shell.pages.requests"), icon: IconActivity, needs: "viewer", shortcut: "r" },
      { to: "/tasks", label: t("shell.pages.tasks"), icon: IconMovie, needs: "viewer", shortcut: "v" },
      { to: "/assets", label: t("shell.pages.assets"), icon: IconLibraryPhoto, needs: "viewer", shortcut: "a" },
      { to: "/limits", label: t("shell.pages.limits"), icon: IconGauge, needs: "viewer", shortcut: "l" },
    ],
  },
  {
    label: t("shell.groups.serving"),
    pages: [
      { to: "/models", label: t("shell.pages.models"), icon: IconBox, needs: "viewer", shortcut: "m" },
      {
        to: "/providers",
        label: t("shell.pages.providers"),
        icon: IconPlugConnected,
        needs: "administrator",
        shortcut: "o",
      },
    ],
  },
  {
    label: t("shell.groups.manage"),
    pages: [
      { to: "/workspaces", label: t("shell.pages.workspaces"), icon: IconBuilding, needs: "viewer", shortcut: "w" },
      { to: "/audit", label: t("shell.pages.audit"), icon: IconHistory, needs: "admin", shortcut: "u" },
      // Other users manage their admin tokens there.
      { to: "/settings", label: t("shell.pages.settings"), icon: IconSettings, needs: "viewer", shortcut: "s" },
    ],
  },
];

/** The pages that the user may open, by group; empty groups are left out. */
export function visibleGroups(may: (need: Need) => boolean): readonly PageGroup[] {
  return pageGroups
    .map((group) => ({ ...group, pages: group.pages.filter((page) => may(page.needs)) }))
    .filter((group) => group.pages.length > 0);
}

/** The tabs of the settings page, by their value of `?tab=`. Only administrators see more than the tokens. */
export const settingsTabs = [
  { id: "general", label: t("shell.tabs.general") },
  { id: "sign-in", label: t("shell.tabs.signIn") },
  { id: "users", label: t("shell.tabs.users") },
  { id: "tokens", label: t("shell.tabs.tokens") },
  { id: "config", label: t("shell.tabs.config") },
  { id: "backup", label: t("shell.tabs.backup") },
  { id: "system", label: t("shell.tabs.system") },
] as const;
