import "../../styles/assets.css";
import { assetContentPath, type ConsoleAsset } from "@sluice/contract";
import { IconMovie, IconMusic, IconPhoto } from "@tabler/icons-react";
import { useState } from "react";

interface AssetViewProps {
  readonly workspace: string;
  readonly asset: ConsoleAsset;
  /** Shows controls and uses all available space. */
  readonly large?: boolean;
}

/** The asset's content, if it is stored here and the browser can show it; otherwise an icon for its type. */
export function AssetView({ workspace, asset, large = false }: AssetViewProps) {
  const [broken, setBroken] = useState(false);
  const source = assetContentPath(workspace, asset.id);
  const alt = asset.name === "" ? asset.id : asset.name;
  if (!asset.has_content || broken || (asset.asset_type === "Audio" && !large)) return <Sign type={asset.asset_type} />;
  if (asset.asset_type === "Image") {
    return <img src={source} alt={alt} loading="lazy" decoding="async" onError={() => setBroken(true)} />;
  }
  if (asset.asset_type === "Audio") {
    // biome-ignore lint/a11y/useMediaCaption: uploaded by a user, without captions.
    return <audio src={source} controls preload="metadata" aria-label={alt} onError={() => setBroken(true)} />;
  }
  return (
    // biome-ignore lint/a11y/useMediaCaption: uploaded by a user, without captions.
    <video
      src={`${source}#t=0.001`}
      preload="metadata"
      controls={large}
      playsInline
      aria-label={alt}
      onError={() => setBroken(true)}
    />
  );
}

function Sign({ type }: { readonly type: ConsoleAsset["asset_type"] }) {
  const Icon = type === "Image" ? IconPhoto : type === "Video" ? IconMovie : IconMusic;
  return <Icon size={26} stroke={1.3} aria-hidden className="asset-sign" />;
}
