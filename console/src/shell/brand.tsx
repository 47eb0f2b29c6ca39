import { VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { t } from "../language/areas/shell.ts";
import mark from "../mark.svg";
import { useSession } from "../session/session-context.tsx";

/** Logo, name and version, with a link to the first page. The build metadata after `+` is left out. */
export function Brand() {
  const { answer } = useSession();
  return (
    <Link to="/" className="brand">
      <img src={mark} alt="" width={26} height={26} />
      <span className="brand-name">{t("shell.brand")}</span>
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
