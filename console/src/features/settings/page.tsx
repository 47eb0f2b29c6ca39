import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { PageFrame } from "../../components/page-frame.tsx";
import { TabRow } from "../../components/tab-row.tsx";
import { t } from "../../language/areas/settings.ts";
import { useUrlChange, useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { settingsTabs } from "../../shell/page-list.ts";
import { BackupTab } from "./backup-tab.tsx";
import { ConfigTab } from "./config-tab.tsx";
import { GeneralTab } from "./general-tab.tsx";
import { SignInTab } from "./sign-in-tab.tsx";
import { SystemTab } from "./system-tab.tsx";
import { TokensTab } from "./tokens-tab.tsx";
import { UsersTab } from "./users-tab.tsx";

const bodies: Readonly<Record<(typeof settingsTabs)[number]["id"], ReactNode>> = {
  general: <GeneralTab />,
  "sign-in": <SignInTab />,
  users: <UsersTab />,
  tokens: <TokensTab />,
  config: <ConfigTab />,
  backup: <BackupTab />,
  system: <SystemTab />,
};

/** Settings of the installation. Other users only see their admin tokens. */
export default function SettingsPage() {
  const { user } = useSession();
  const parts = settingsTabs
    .filter(({ id }) => user.administrator || id === "tokens")
    .map((tab) => ({ ...tab, body: bodies[tab.id] }));
  const [asked] = useUrlText("tab");
  const change = useUrlChange();
  const shown = parts.find((part) => part.id === asked) ?? parts[0];
  return (
    <PageFrame
      title={t("settings.title")}
      description={user.administrator ? t("settings.help") : t("settings.ownHelp")}
    >
      {parts.length === 1 ? (
        shown?.body
      ) : (
        <Tabs
          value={shown?.id ?? null}
          // Parameters of one tab (a search, an open form) are dropped when another tab opens.
          onChange={(tab) => change({ tab: tab ?? "", search: "", account: "", rules: "", create: "" })}
          keepMounted={false}
        >
          <TabRow value={shown?.id ?? null}>
            {parts.map((part) => (
              <Tabs.Tab key={part.id} value={part.id}>
                {part.label}
              </Tabs.Tab>
            ))}
          </TabRow>
          {parts.map((part) => (
            <Tabs.Panel key={part.id} value={part.id}>
              {part.body}
            </Tabs.Panel>
          ))}
        </Tabs>
      )}
    </PageFrame>
  );
}
