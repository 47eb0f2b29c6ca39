import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { PageFrame } from "../../parts/page-frame.tsx";
import { TabRow } from "../../parts/tab-row.tsx";
import { useUrlChange, useUrlText } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { BackupTab } from "./backup-tab.tsx";
import { ConfigTab } from "./config-tab.tsx";
import { GeneralTab } from "./general-tab.tsx";
import { SignInTab } from "./sign-in-tab.tsx";
import { SystemTab } from "./system-tab.tsx";
import { TokensTab } from "./tokens-tab.tsx";
import { UsersTab } from "./users-tab.tsx";

interface SettingsPart {
  readonly id: string;
  readonly label: string;
  readonly body: ReactNode;
}

const forAdministrators: readonly SettingsPart[] = [
  { id: "general", label: "General", body: <GeneralTab /> },
  { id: "sign-in", label: "Sign-in", body: <SignInTab /> },
  { id: "users", label: "Users", body: <UsersTab /> },
];
const forEverybody: readonly SettingsPart[] = [{ id: "tokens", label: "Admin tokens", body: <TokensTab /> }];
const aboutTheSystem: readonly SettingsPart[] = [
  { id: "config", label: "Config file", body: <ConfigTab /> },
  { id: "backup", label: "Backup", body: <BackupTab /> },
  { id: "system", label: "System", body: <SystemTab /> },
];

/** The installation itself. Whoever is no administrator has only their own admin tokens here. */
export default function SettingsPage() {
  const { user } = useSession();
  const parts = user.administrator ? [...forAdministrators, ...forEverybody, ...aboutTheSystem] : forEverybody;
  const [asked] = useUrlText("tab");
  const change = useUrlChange();
  const shown = parts.find((part) => part.id === asked) ?? parts[0];
  return (
    <PageFrame
      title="Settings"
      description={
        user.administrator
          ? "What counts for the whole installation: every workspace, every user."
          : "What you may call the admin API with."
      }
    >
      {parts.length === 1 ? (
        shown?.body
      ) : (
        <Tabs
          value={shown?.id ?? null}
          // What belongs to one part (a search, an opened form) does not go along to another.
          onChange={(tab) => change({ tab: tab ?? "", search: "", account: "", make: "" })}
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
