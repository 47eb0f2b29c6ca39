import { otherMediaTypes } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

otherMediaTypes(moderationsEndpoint);
