import { type VendorIcon, vendorIcon } from "./icons.ts";
import { vendorOfKind, vendorOfModel } from "./vendor-of.ts";
import "../../styles/vendors.css";

interface VendorLogoProps {
  /** null: shows the initial of `name`. */
  readonly icon: VendorIcon | null;
  readonly name: string;
  readonly size?: number;
}

/** The logo next to a name. It repeats the name, so screen readers skip it. */
export function VendorLogo({ icon, name, size = 16 }: VendorLogoProps) {
  const box = { width: size, height: size };
  if (icon === null) {
    return (
      <span className="vendor-letter" style={{ ...box, fontSize: size * 0.6 }} aria-hidden>
        {[...name][0]?.toUpperCase()}
      </span>
    );
  }
  const { url, plain } = vendorIcon(icon);
  return plain ? (
    <span className="vendor-plain" style={{ ...box, maskImage: `url("${url}")` }} aria-hidden />
  ) : (
    <img className="vendor-logo" src={url} alt="" {...box} loading="lazy" />
  );
}

interface ModelNameProps {
  readonly model: string;
  /** Its owner and its upstream model, for names that applications invented. */
  readonly hints?: readonly (string | null | undefined)[];
  readonly children?: React.ReactNode;
}

/** A model's name behind its vendor's logo. */
export function ModelName({ model, hints = [], children }: ModelNameProps) {
  return (
    <span className="with-logo">
      <VendorLogo icon={vendorOfModel(model, ...hints)} name={model} />
      <span className="with-logo-text">{children ?? model}</span>
    </span>
  );
}

interface ProviderNameProps {
  readonly id: string;
  readonly kind: string;
  readonly children?: React.ReactNode;
}

/** A provider's name behind the logo of its type. */
export function ProviderName({ id, kind, children }: ProviderNameProps) {
  return (
    <span className="with-logo">
      <VendorLogo icon={vendorOfKind(kind)} name={id} />
      <span className="with-logo-text">{children ?? id}</span>
    </span>
  );
}
