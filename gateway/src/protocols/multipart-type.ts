import { Failure } from "#core/index.ts";
import { readHeaderValue } from "./header-params.ts";

/** A form's boundary, and its content type written so that every reader finds the same one in it. */
export interface MultipartType {
  readonly boundary: string;
  readonly contentType: string;
}

/**
 * `wanted`: what may be sent, for whoever sent something else. Throws Failure unsupported_media_type for another content type,
 * invalid_request for a form without a usable boundary.
 */
export function readMultipartType(contentType: string | null, wanted: string): MultipartType {
  if (contentType === null || !/^multipart\/form-data(?![^\s;])/i.test(contentType)) {
    throw new Failure("unsupported_media_type", wanted);
  }
  const boundary = readHeaderValue(contentType)?.params.get("boundary");
  if (boundary === undefined || boundary.escaped || !boundaryPattern.test(boundary.value)) {
    throw new Failure("invalid_request", "The content type of the form names no valid boundary.", {
      param: "content-type",
    });
  }
  const { value } = boundary;
  const written = tokenPattern.test(value) ? value : `"${value}"`;
  return { boundary: value, contentType: `multipart/form-data; boundary=${written}` };
}

/** RFC 2046, 5.1.1: at most 70 characters of these, and no blank at the end. */
const boundaryPattern = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
