import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/playground.ts";
import "../../styles/answers.css";
import "../../styles/playground.css";
import "../../styles/media.css";
import { Playground } from "./playground.tsx";

export default function PlaygroundPage() {
  return (
    <PageFrame title={t("playground.title")} description={t("playground.help")}>
      <NeedsWorkspace why={t("playground.needsWorkspace")}>
        {(slug) => <Playground key={slug} slug={slug} />}
      </NeedsWorkspace>
    </PageFrame>
  );
}
