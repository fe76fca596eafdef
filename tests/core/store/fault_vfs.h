// SQLite's own file layer with a question in front of every call: shall it fail, and how?
#pragma once

#include <sqlite3.h>

#include <functional>
#include <new>

namespace vitrine::testing {

/// What SQLite asks of the file layer. Reads of locks and sizes count too: all of them can fail.
enum class FileCall { Open, Delete, Access, Read, Write, Truncate, Sync, Size, Lock, Shm };

/// The default of the process for as long as it lives; connections that are opened meanwhile ask
/// it.
class FaultVfs {
 public:
  /// An SQLite result code: SQLITE_OK lets the call through. \param flags  SQLITE_OPEN_WAL,
  /// SQLITE_OPEN_MAIN_DB ...: which file it is about, 0 where that is not known
  using Question = std::function<int(FileCall call, int flags)>;

  explicit FaultVfs(Question question) {
    real_ = sqlite3_vfs_find(nullptr);
    ask_ = std::move(question);
    vfs_ = *real_;
    vfs_.zName = "faults";
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.xOpen = open;
    vfs_.xDelete = [](sqlite3_vfs*, const char* name, int sync) {
      const int code = ask_(FileCall::Delete, 0);
      return code != SQLITE_OK ? code : real_->xDelete(real_, name, sync);
    };
    vfs_.xAccess = [](sqlite3_vfs*, const char* name, int flags, int* result) {
      const int code = ask_(FileCall::Access, 0);
      return code != SQLITE_OK ? code : real_->xAccess(real_, name, flags, result);
    };
    vfs_.xSleep = [](sqlite3_vfs*, int microseconds) {
      return microseconds;
    };  // no other connection to wait for
    sqlite3_vfs_register(&vfs_, /*makeDflt=*/1);
  }
  ~FaultVfs() {
    sqlite3_vfs_unregister(&vfs_);
    ask_ = nullptr;
  }
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

 private:
  struct File {
    sqlite3_file base;
    int flags;
    sqlite3_file* real;  ///< lies behind this one
  };

  static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
  static sqlite3_file* real(sqlite3_file* file) { return of(file).real; }
  static int ask(FileCall call, sqlite3_file* file) { return ask_(call, of(file).flags); }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* outFlags) {
    auto* own = new (file) File{};
    own->flags = flags;
    own->real = reinterpret_cast<sqlite3_file*>(own + 1);
    if (const int code = ask_(FileCall::Open, flags); code != SQLITE_OK) return code;
    const int code = real_->xOpen(real_, name, own->real, flags, outFlags);
    if (own->real->pMethods != nullptr) own->base.pMethods = &kMethods;
    return code;
  }

  // One line each: ask, then forward.
  static const sqlite3_io_methods kMethods;

  static inline sqlite3_vfs* real_ = nullptr;
  static inline Question ask_;
  sqlite3_vfs vfs_{};
};

#define VITRINE_ASK(call) \
  if (const int code = ask(FileCall::call, file); code != SQLITE_OK) return code

inline const sqlite3_io_methods FaultVfs::kMethods{
    2,
    [](sqlite3_file* file) { return real(file)->pMethods->xClose(real(file)); },
    [](sqlite3_file* file, void* bytes, int count, sqlite3_int64 offset) {
      VITRINE_ASK(Read);
      return real(file)->pMethods->xRead(real(file), bytes, count, offset);
    },
    [](sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
      VITRINE_ASK(Write);
      return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    },
    [](sqlite3_file* file, sqlite3_int64 size) {
      VITRINE_ASK(Truncate);
      return real(file)->pMethods->xTruncate(real(file), size);
    },
    // Nothing is cut off from power here, and a real one takes milliseconds.
    [](sqlite3_file* file, int) {
      VITRINE_ASK(Sync);
      return SQLITE_OK;
    },
    [](sqlite3_file* file, sqlite3_int64* size) {
      VITRINE_ASK(Size);
      return real(file)->pMethods->xFileSize(real(file), size);
    },
    [](sqlite3_file* file, int level) {
      VITRINE_ASK(Lock);
      return real(file)->pMethods->xLock(real(file), level);
    },
    [](sqlite3_file* file, int level) { return real(file)->pMethods->xUnlock(real(file), level); },
    [](sqlite3_file* file, int* result) {
      VITRINE_ASK(Lock);
      return real(file)->pMethods->xCheckReservedLock(real(file), result);
    },
    [](sqlite3_file* file, int operation, void* argument) {
      return real(file)->pMethods->xFileControl(real(file), operation, argument);
    },
    [](sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); },
    [](sqlite3_file* file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); },
    [](sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
      VITRINE_ASK(Shm);
      return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
    },
    [](sqlite3_file* file, int offset, int count, int flags) {
      if ((flags & SQLITE_SHM_LOCK) != 0) VITRINE_ASK(Shm);
      return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
    },
    [](sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); },
    [](sqlite3_file* file, int remove) {
      return real(file)->pMethods->xShmUnmap(real(file), remove);
    },
    nullptr,
    nullptr,
};

#undef VITRINE_ASK

/// A disk that takes two pages of a database, and then nothing: `code` is the answer.
inline FaultVfs::Question refusingDisk(int code) {
  return [code, pages = 0](FileCall call, int flags) mutable {
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_OK;
    const bool isRefused =
        call == FileCall::Truncate || (call == FileCall::Write && ++pages > 2);
    return isRefused ? code : SQLITE_OK;
  };
}

}  // namespace vitrine::testing
