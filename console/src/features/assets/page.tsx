import "../../styles/media.css";
import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { AssetLibrary } from "./asset-library.tsx";

export default function AssetsPage() {
  return (
    <PageFrame
      title="Assets"
      description="Pictures, videos and sounds that are used again: a video refers to them as asset://… and every key of the workspace can use them."
    >
      <NeedsWorkspace why="Assets belong to a workspace.">
        {(slug) => <AssetLibrary key={slug} slug={slug} />}
      </NeedsWorkspace>
    </PageFrame>
  );
}
