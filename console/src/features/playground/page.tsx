import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/playground.ts";
import "../../styles/answers.css";
import "../../styles/playground.css";
import "../../styles/media.css";
import { Playground } from "./playground.tsx";

export default function PlaygroundPage() {
  return (
    <PageFrame title={t("playground.playground")} description={t("playground.tryAnyModelFromHere")}>
      <NeedsWorkspace why={t("playground.callsAreMadeAsA")}>
        {(slug) => <Playground key={slug} slug={slug} />}
      </NeedsWorkspace>
    </PageFrame>
  );
}
