import { t } from "../../language/areas/assets.ts";
import "../../styles/media.css";
import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { MediaFrame } from "../media/media-frame.tsx";
import { AssetLibrary } from "./asset-library.tsx";

export default function AssetsPage() {
  return (
    <MediaFrame mode="assets" description={t("assets.help")}>
      <NeedsWorkspace why={t("assets.needsWorkspace")}>
        {(slug) => <AssetLibrary key={slug} slug={slug} />}
      </NeedsWorkspace>
    </MediaFrame>
  );
}
