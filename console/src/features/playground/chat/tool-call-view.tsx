import { IconTool } from "@tabler/icons-react";
import { CodeBlock } from "../../../components/code-block.tsx";
import { Rich, t } from "../../../language/areas/playground.ts";
import { argumentsText, type ToolCall } from "./reply.ts";

/** A tool call of the model. */
export function ToolCallView({ call }: { readonly call: ToolCall }) {
  return (
    <div className="tool-call">
      <div className="tool-call-head">
        <IconTool size={14} aria-hidden />
        <span>
          <Rich
            text="playground.tools.wants"
            tags={{ tool: (name) => <code>{name}</code> }}
            values={{ name: call.name === "" ? "…" : call.name }}
          />
        </span>
      </div>
      <CodeBlock
        code={argumentsText(call)}
        label={t("playground.tools.arguments", { name: call.name })}
        wrap
        maxHeight="12rem"
      />
    </div>
  );
}
