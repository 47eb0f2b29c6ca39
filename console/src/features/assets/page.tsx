import { t } from "../../language/areas/assets.ts";
import "../../styles/media.css";
import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { AssetLibrary } from "./asset-library.tsx";

export default function AssetsPage() {
  return (
    <PageFrame title={t("assets.title")} description={t("assets.help")}>
      <NeedsWorkspace why={t("assets.needsWorkspace")}>
        {(slug) => <AssetLibrary key={slug} slug={slug} />}
      </NeedsWorkspace>
    </PageFrame>
  );
}
