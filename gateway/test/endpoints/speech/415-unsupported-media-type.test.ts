import { otherMediaTypes } from "../passed-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

otherMediaTypes(speechEndpoint);
