/** The numbers of Java's Object Serialization Stream Protocol, version 2 (`java.io.ObjectStreamConstants`). */

export const STREAM_MAGIC = 0xaced;
export const STREAM_VERSION = 5;

export const TC_NULL = 0x70;
export const TC_REFERENCE = 0x71;
export const TC_CLASSDESC = 0x72;
export const TC_OBJECT = 0x73;
export const TC_STRING = 0x74;
export const TC_ARRAY = 0x75;
export const TC_CLASS = 0x76;
export const TC_BLOCKDATA = 0x77;
export const TC_ENDBLOCKDATA = 0x78;
export const TC_RESET = 0x79;
export const TC_BLOCKDATALONG = 0x7a;
export const TC_EXCEPTION = 0x7b;
export const TC_LONGSTRING = 0x7c;
export const TC_PROXYCLASSDESC = 0x7d;
export const TC_ENUM = 0x7e;

/** The class has a `writeObject` method: its fields are followed by what the method added. */
export const SC_WRITE_METHOD = 0x01;
export const SC_SERIALIZABLE = 0x02;
export const SC_EXTERNALIZABLE = 0x04;
/** What the `writeExternal` method of the class wrote is in blocks and can be stepped over. */
export const SC_BLOCK_DATA = 0x08;
export const SC_ENUM = 0x10;

/** The first number that a thing of the stream gets, for references to it. */
export const BASE_HANDLE = 0x7e0000;
