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
      { to: "/", label: "Overview", icon: IconHome, needs: "signed-in", letter: "h" },
      { to: "/playground", label: "Playground", icon: IconMessages, needs: "member", letter: "p" },
    ],
  },
  {
    label: "Use",
    pages: [
      { to: "/keys", label: "API keys", icon: IconKey, needs: "viewer", letter: "k" },
      { to: "/requests", label: "Requests", icon: IconActivity, needs: "viewer", letter: "r" },
      { to: "/tasks", label: "Video tasks", icon: IconMovie, needs: "viewer", letter: "v" },
      { to: "/assets", label: "Assets", icon: IconLibraryPhoto, needs: "viewer", letter: "a" },
      { to: "/limits", label: "Limits", icon: IconGauge, needs: "viewer", letter: "l" },
    ],
  },
  {
    label: "Serve",
    pages: [
      { to: "/models", label: "Models", icon: IconBox, needs: "viewer", letter: "m" },
      { to: "/providers", label: "Providers", icon: IconPlugConnected, needs: "administrator", letter: "o" },
    ],
  },
  {
    label: "Manage",
    pages: [
      { to: "/workspaces", label: "Workspaces", icon: IconBuilding, needs: "viewer", letter: "w" },
      { to: "/audit", label: "Audit log", icon: IconHistory, needs: "admin", letter: "u" },
      // Whoever is no administrator has their admin tokens there.
      { to: "/settings", label: "Settings", icon: IconSettings, needs: "viewer", letter: "s" },
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
  { id: "general", label: "General" },
  { id: "sign-in", label: "Sign-in" },
  { id: "users", label: "Users" },
  { id: "tokens", label: "Admin tokens" },
  { id: "config", label: "Config file" },
  { id: "backup", label: "Backup" },
  { id: "system", label: "System" },
] as const;
