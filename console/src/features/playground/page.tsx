import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import "../../styles/answers.css";
import "../../styles/playground.css";
import "../../styles/media.css";
import { Playground } from "./playground.tsx";

export default function PlaygroundPage() {
  return (
    <PageFrame
      title="Playground"
      description="Try any model from here. Calls are made as one of your keys: its limits hold, its budget pays, and every call stands among the requests."
    >
      <NeedsWorkspace why="Calls are made as a key, and keys belong to a workspace.">
        {(slug) => <Playground key={slug} slug={slug} />}
      </NeedsWorkspace>
    </PageFrame>
  );
}
