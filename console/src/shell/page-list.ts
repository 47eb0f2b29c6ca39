import type { Need } from "@sluice/contract";
import {
  IconActivity,
  IconBell,
  IconBox,
  IconBuilding,
  IconChartBar,
  IconFiles,
  IconGauge,
  IconHistory,
  IconHome,
  IconKey,
  IconMessages,
  IconMovie,
  IconPlugConnected,
  IconReceipt,
  IconSettings,
  IconShieldCheck,
  IconStack2,
  IconTerminal2,
  IconUsers,
  type TablerIcon,
} from "@tabler/icons-react";
import { t } from "../language/areas/shell.ts";

interface PageEntry {
  readonly to:
    | "/"
    | "/usage"
    | "/requests"
    | "/playground"
    | "/media"
    | "/batches"
    | "/bill"
    | "/files"
    | "/connect"
    | "/keys"
    | "/models"
    | "/providers"
    | "/people"
    | "/workspaces"
    | "/limits"
    | "/guardrails"
    | "/alerts"
    | "/audit"
    | "/settings";
  readonly label: string;
  readonly icon: TablerIcon;
  /** The role in the selected workspace that is required to see the page. */
  readonly needs: Need;
  /** The key after `g` that opens the page. */
  readonly shortcut: string;
  /** Shown only while there is something for it. */
  readonly when?: "media";
}

export interface PageGroup {
  readonly label: string | null;
  readonly pages: readonly PageEntry[];
}

/** The page behind the button in the top bar. */
export const connectPage: PageEntry = {
  to: "/connect",
  label: t("shell.pages.connect"),
  icon: IconTerminal2,
  needs: "member",
  shortcut: "c",
};

/** The navigation, by job: watch and try, serve, manage the team, configure. */
const pageGroups: readonly PageGroup[] = [
  {
    label: null,
    pages: [
      { to: "/", label: t("shell.pages.home"), icon: IconHome, needs: "signed-in", shortcut: "h" },
      { to: "/usage", label: t("shell.pages.usage"), icon: IconChartBar, needs: "viewer", shortcut: "u" },
      { to: "/requests", label: t("shell.pages.requests"), icon: IconActivity, needs: "viewer", shortcut: "r" },
      { to: "/playground", label: t("shell.pages.playground"), icon: IconMessages, needs: "member", shortcut: "p" },
      { to: "/media", label: t("shell.pages.media"), icon: IconMovie, needs: "viewer", shortcut: "v", when: "media" },
      { to: "/batches", label: t("shell.pages.batches"), icon: IconStack2, needs: "viewer", shortcut: "j" },
      { to: "/files", label: t("shell.pages.files"), icon: IconFiles, needs: "viewer", shortcut: "f" },
    ],
  },
  {
    label: t("shell.groups.gateway"),
    pages: [
      { to: "/keys", label: t("shell.pages.keys"), icon: IconKey, needs: "viewer", shortcut: "k" },
      { to: "/models", label: t("shell.pages.models"), icon: IconBox, needs: "viewer", shortcut: "m" },
      {
        to: "/providers",
        label: t("shell.pages.providers"),
        icon: IconPlugConnected,
        needs: "administrator",
        shortcut: "o",
      },
      { to: "/bill", label: t("shell.pages.bill"), icon: IconReceipt, needs: "administrator", shortcut: "i" },
    ],
  },
  {
    label: t("shell.groups.team"),
    pages: [
      { to: "/people", label: t("shell.pages.people"), icon: IconUsers, needs: "administrator", shortcut: "e" },
      { to: "/workspaces", label: t("shell.pages.workspaces"), icon: IconBuilding, needs: "viewer", shortcut: "w" },
      { to: "/limits", label: t("shell.pages.limits"), icon: IconGauge, needs: "viewer", shortcut: "l" },
      { to: "/guardrails", label: t("shell.pages.guardrails"), icon: IconShieldCheck, needs: "viewer", shortcut: "x" },
      { to: "/alerts", label: t("shell.pages.alerts"), icon: IconBell, needs: "viewer", shortcut: "b" },
      { to: "/audit", label: t("shell.pages.audit"), icon: IconHistory, needs: "admin", shortcut: "d" },
    ],
  },
  {
    label: null,
    pages: [
      // Other users manage their admin tokens there.
      { to: "/settings", label: t("shell.pages.settings"), icon: IconSettings, needs: "viewer", shortcut: "s" },
    ],
  },
];

/** The pages that the user may open, by group; empty groups are left out. */
export function visibleGroups(may: (need: Need) => boolean, media: boolean): readonly PageGroup[] {
  const isShown = (page: PageEntry) => may(page.needs) && (page.when !== "media" || media);
  return pageGroups
    .map((group) => ({ ...group, pages: group.pages.filter(isShown) }))
    .filter((group) => group.pages.length > 0);
}

/** All pages that the user may open, also those outside the navigation. */
export function visiblePages(may: (need: Need) => boolean, media: boolean): readonly PageEntry[] {
  const pages = visibleGroups(may, media).flatMap((group) => group.pages);
  return may(connectPage.needs) ? [...pages, connectPage] : pages;
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
