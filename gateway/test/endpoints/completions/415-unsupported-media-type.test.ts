import { otherMediaTypes } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

otherMediaTypes(completionsEndpoint);
