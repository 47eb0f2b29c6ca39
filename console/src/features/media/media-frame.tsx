import { Tabs } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { PageFrame } from "../../components/page-frame.tsx";
import { TabRow } from "../../components/tab-row.tsx";
import { t } from "../../language/areas/media.ts";

const pages = { videos: "/media", assets: "/media/assets" } as const;

interface MediaFrameProps {
  readonly mode: keyof typeof pages;
  readonly description: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The page of generated videos and of the assets that requests refer to. */
export function MediaFrame({ mode, description, actions, children }: MediaFrameProps) {
  const navigate = useNavigate();
  return (
    <PageFrame title={t("media.title")} description={description} actions={actions}>
      <Tabs
        value={mode}
        onChange={(next) => {
          if (next === "videos" || next === "assets") void navigate({ to: pages[next] });
        }}
      >
        <TabRow value={mode}>
          <Tabs.Tab value="videos">{t("media.tabTasks")}</Tabs.Tab>
          <Tabs.Tab value="assets">{t("media.tabAssets")}</Tabs.Tab>
        </TabRow>
        <Tabs.Panel value={mode}>{children}</Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}
