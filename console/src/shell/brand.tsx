import { VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { logoOf } from "../brand/use-brand.ts";
import { t } from "../language/areas/shell.ts";
import { useSession } from "../session/session-context.tsx";

/** Logo, name and version, with a link to the first page. The build metadata after `+` is left out. */
export function Brand() {
  const { answer } = useSession();
  return (
    <Link to="/" className="brand">
      <img src={logoOf(answer.brand)} alt="" height={26} className="brand-logo" />
      <span className="brand-name">{answer.brand.name}</span>
      {answer.version !== null && (
        <>
          <VisuallyHidden>{t("shell.version")}</VisuallyHidden>
          <span className="brand-version" title={answer.version}>
            {answer.version.split("+")[0]}
          </span>
        </>
      )}
    </Link>
  );
}
