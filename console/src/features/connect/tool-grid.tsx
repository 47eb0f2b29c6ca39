import { VendorLogo } from "../../components/vendors/vendor-logo.tsx";
import { t } from "../../language/areas/connect.ts";
import { type ToolId, tools } from "./tools.ts";

interface ToolGridProps {
  /** null: none yet. */
  readonly value: ToolId | null;
  readonly onChoose: (tool: ToolId) => void;
}

/** The tools that can be connected, with their logos. */
export function ToolGrid({ value, onChoose }: ToolGridProps) {
  return (
    <fieldset className="tool-grid" aria-label={t("connect.tool")}>
      {tools.map((tool) => (
        <button
          key={tool.id}
          type="button"
          className="tool-card"
          aria-pressed={tool.id === value}
          onClick={() => onChoose(tool.id)}
        >
          {"icon" in tool ? (
            <tool.icon size={20} stroke={1.6} aria-hidden />
          ) : (
            <VendorLogo icon={tool.logo} name={tool.title} size={20} />
          )}
          {tool.title}
        </button>
      ))}
    </fieldset>
  );
}
