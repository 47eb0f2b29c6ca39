import { Skeleton } from "@mantine/core";
import { lazy, Suspense } from "react";
import { Drawer } from "../../components/drawer.tsx";
import { t } from "../../language/areas/connect.ts";
import { loadChunk } from "../../routes/load-chunk.ts";
import { type GuideId, guideTitles } from "./guides.ts";

const GuideBody = lazy(() => loadChunk(() => import("./guide-body.tsx")));

interface GuideDrawerProps {
  /** null: closed. */
  readonly guide: GuideId | null;
  readonly baseUrl: string;
  readonly onClose: () => void;
}

/** A page of the documentation, shown next to the snippets. */
export function GuideDrawer({ guide, baseUrl, onClose }: GuideDrawerProps) {
  return (
    <Drawer
      opened={guide !== null}
      onClose={onClose}
      title={guide === null ? "" : t("connect.guide", { program: guideTitles[guide] })}
      size="xl"
    >
      {guide !== null && (
        <Suspense fallback={<Skeleton height={320} aria-busy />}>
          <GuideBody guide={guide} baseUrl={baseUrl} />
        </Suspense>
      )}
    </Drawer>
  );
}
